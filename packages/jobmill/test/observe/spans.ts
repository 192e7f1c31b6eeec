/** The real SDK of OpenTelemetry, with access to the exported spans. */
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { onTestFinished } from 'vitest'

export interface Spans {
  readonly provider: BasicTracerProvider
  /** All ended spans, in order. */
  readonly all: () => ReadableSpan[]
  /** By name; the first of that name is enough for most. */
  readonly named: (name: string) => ReadableSpan[]
  /** The only one of that name. */
  readonly one: (name: string) => ReadableSpan
}

/** Until the end of the test. */
export function recordSpans(): Spans {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  onTestFinished(async () => {
    context.disable()
    await provider.shutdown()
  })
  const named = (name: string): ReadableSpan[] =>
    exporter.getFinishedSpans().filter((span) => span.name === name)
  return {
    provider,
    all: () => exporter.getFinishedSpans(),
    named,
    one(name) {
      const [span, ...more] = named(name)
      if (span === undefined || more.length > 0)
        throw new Error(`${more.length + (span === undefined ? 0 : 1)} spans are called ${name}`)
      return span
    },
  }
}

/** The spans that it links to. */
export function linksOf({ links }: ReadableSpan): string[] {
  return links.map(({ context: to }) => `${to.traceId} ${to.spanId}`)
}

export function idOf(span: ReadableSpan): string {
  const { traceId, spanId } = span.spanContext()
  return `${traceId} ${spanId}`
}

export function parentOf({ parentSpanContext: parent }: ReadableSpan): string | null {
  return parent === undefined ? null : `${parent.traceId} ${parent.spanId}`
}

/** In ms. */
export function lengthOf({ duration: [seconds, nanos] }: ReadableSpan): number {
  return seconds * 1_000 + nanos / 1_000_000
}
