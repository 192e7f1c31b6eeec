/**
 * The headers that clients send without a proxy: browsers, fetch, curl, scripts, scrapers and tracers. A list
 * of the headers that proxies add would never be complete, because every gateway invents its own names.
 */

/** Families of names. */
const PREFIXES =
  /^(?:accept|content|if|sec|access-control-request|ot-tracer|uberctx|x-b3|x-datadog|x-instana|x-newrelic)-./

const NAMES = new Set(
  [
    // Defined by HTTP and the Fetch standard, without Via, Forwarded, Max-Forwards, Early-Data and Proxy-*.
    `accept authorization cache-control connection cookie date digest expect from host keep-alive last-event-id origin
     pragma priority range referer te trailer transfer-encoding upgrade user-agent want-content-digest want-digest`,
    // Sent only by browsers.
    `alt-used available-dictionary device-memory dictionary-id dnt downlink dpr ect http2-settings intervention ping-from
     ping-to purpose rtt save-data service-worker service-worker-navigation-preload upgrade-insecure-requests viewport-width width x-moz x-purpose`,
    // Sent by HTTP clients, and by scripts that their users write.
    `idempotency-key postman-token x-csrf-token x-csrftoken x-http-method-override x-prometheus-scrape-timeout-seconds
     x-requested-with x-xsrf-token`,
    // Tracers add these to requests of their own process. Proxies add them too, so they prove nothing. The
    // headers x-amzn-trace-id and x-cloud-trace-context are absent: load balancers add those.
    `b3 baggage correlation-context elastic-apm-traceparent newrelic request-context request-id request-start-time
     sentry-trace sw8 traceparent tracestate uber-trace-id x-correlation-id x-dynatrace x-honeycomb-trace
     x-request-id`,
  ].flatMap((names) => names.split(/\s+/)),
)

/** `name` is in lower case. Only proxies and application servers use names with underscores. */
export function isSentByClients(name: string): boolean {
  return NAMES.has(name) || PREFIXES.test(name)
}
