/** Shows the OpenAPI document in Swagger UI. Deferred scripts run in order, so SwaggerUIBundle is already defined. */

window.SwaggerUIBundle({
  url: new URL("openapi.json", window.location.href).href,
  dom_id: "#swagger-ui",
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  filter: true,
  // The default validator is an external service, which would receive the document.
  validatorUrl: null,
});
