import js from "@eslint/js";
import globals from "globals";

// Job names, branches and labels are chosen by strangers: text reaches the page as text nodes, never as markup.
const markup = ["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe", "createContextualFragment"].map((property) => ({
  property,
  message: "Build elements with dom.js instead of parsing markup.",
}));

export default [
  { ignores: ["**/node_modules/", ".venv/", ".local/", "cdk.out/", "dist/"] },
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "array-callback-return": "error",
      "consistent-return": "error",
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-properties": ["error", ...markup],
      "no-self-compare": "error",
      "no-shadow": "error",
      "no-throw-literal": "error",
      "no-use-before-define": ["error", { functions: false, variables: false }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "error",
      "require-atomic-updates": "error",
    },
  },
  { files: ["web/**/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["tests/**/*.mjs"], languageOptions: { globals: globals.node } },
];
