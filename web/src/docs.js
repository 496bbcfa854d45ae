/** The API's description in Swagger UI, which its own script has defined by now: deferred scripts run in order. */

window.SwaggerUIBundle({
  url: new URL("openapi.json", window.location.href).href,
  dom_id: "#swagger-ui",
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  filter: true,
  // Swagger's own validator is somewhere else, and would be sent the description.
  validatorUrl: null,
});
