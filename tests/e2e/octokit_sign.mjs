// Signs each body on standard input (a JSON list of texts) as GitHub's own library does.
import { readFileSync } from "node:fs";
import { sign } from "@octokit/webhooks-methods";

const [secret] = process.argv.slice(2);
const bodies = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(await Promise.all(bodies.map((body) => sign(secret, body)))));
