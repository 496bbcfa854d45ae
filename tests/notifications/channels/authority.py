"""A certificate authority for one test run, and certificates of any name."""

import datetime
import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)
SIGNS_CERTIFICATES = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


@dataclass(frozen=True, kw_only=True)
class Authority:
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate
    folder: Path

    @classmethod
    def create(cls, folder: Path) -> "Authority":
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
        certificate = (
            _builder(name, name, key, signer=key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(SIGNS_CERTIFICATES, critical=True)
        )
        return cls(key=key, certificate=certificate.sign(key, hashes.SHA256()), folder=folder)

    def trusted(self) -> ssl.SSLContext:
        """What a client has that trusts this authority only."""
        pem = self.certificate.public_bytes(serialization.Encoding.PEM).decode()
        context = ssl.create_default_context(cadata=pem)
        context.verify_flags |= ssl.VERIFY_X509_STRICT  # the default since Python 3.13
        return context

    def server(self, name: str, *, expired: bool = False) -> ssl.SSLContext:
        """A server with a certificate of this name or address."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        try:
            alternative: x509.GeneralName = x509.IPAddress(ip_address(name))
        except ValueError:
            alternative = x509.DNSName(name)
        builder = _builder(subject, self.certificate.subject, key, signer=self.key, expired=expired).add_extension(
            x509.SubjectAlternativeName([alternative]), critical=False
        )
        signed = builder.sign(self.key, hashes.SHA256())
        file = self.folder / f"{name}{'-expired' * expired}.pem"
        pem = serialization.Encoding.PEM
        file.write_bytes(
            key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
            + signed.public_bytes(pem)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    *,
    signer: ec.EllipticCurvePrivateKey,
    expired: bool = False,
) -> x509.CertificateBuilder:
    """A builder with both key identifiers, which Python 3.13 requires."""
    now = datetime.datetime.now(datetime.UTC)
    end = now - DAY if expired else now + DAY
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 2 * DAY)
        .not_valid_after(end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
