import sys

from runledger_cli.main import main

sys.exit(main())
