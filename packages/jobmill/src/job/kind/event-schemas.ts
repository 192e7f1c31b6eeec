/** The option `events` of a kind: the events that its jobs receive, and the schema of each. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { BOUNDS } from '../defaults.ts'
import { invalidValue, type JobmillError, pathOf, quote } from '../errors.ts'
import { checkKey } from '../names.ts'
import { checkObject, didYouMean } from '../options/known-keys.ts'
import type { MustBeJson } from '../payload/json-payload.ts'
import { checkSchema, type Schema } from '../payload/schema.ts'

/** As a type argument, this also stands for a kind without `events`: any name, and any payload. */
export type EventSchemas = Readonly<Record<string, StandardSchemaV1>>

export type EventName<Events> = keyof Events & string

/** What `sendEvent` takes. */
export type SentPayload<Events, Name extends keyof Events> = Events[Name] extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Events[Name]>
  : never

/** What `waitForEvent` returns. */
export type ReceivedPayload<Events, Name extends keyof Events> = Events[Name] extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Events[Name]>
  : never

/** Adds nothing for schemas of JSON values. For any other, adds a property that explains the problem. */
export interface EventsMustBeJson<Events> {
  readonly events?: { readonly [Name in keyof Events]: MustBeJson<NotVoid<SentPayload<Events, Name>>> }
}

/** An event without a payload stores null, which z.void() does not accept: use z.null(). */
type NotVoid<Payload> = unknown extends Payload ? Payload : void extends Payload ? undefined : Payload

export function checkEventSchemas(given: unknown, field: string): EventSchemas | undefined {
  if (given === undefined) return undefined
  checkObject(given, field, 'a schema for each event, such as { paid: z.object({ … }) }')
  for (const [name, schema] of Object.entries(given)) {
    const at = pathOf(field, name)
    checkKey(name, at, BOUNDS.stepNameChars)
    checkSchema(schema, at)
  }
  return Object.freeze({ ...given })
}

/** The schema of an event. Undefined if the kind declares no events, which allows every name. */
export function schemaOfEvent(
  { kind, events }: { readonly kind: string; readonly events: EventSchemas | undefined },
  name: string,
  field: string,
): Schema | undefined {
  if (events === undefined || Object.hasOwn(events, name)) return events?.[name]
  throw unknownEvent(kind, Object.keys(events), name, field)
}

function unknownEvent(kind: string, known: readonly string[], name: string, field: string): JobmillError {
  const what =
    known.length === 0
      ? `kind ${quote(kind)} declares no events`
      : `is none of the events of kind ${quote(kind)}: ${known.map(quote).join(', ')}`
  const fix = didYouMean(name, known, 'Add it to the option events of the job')
  return invalidValue(field, name, what, fix, 'NAME_INVALID')
}
