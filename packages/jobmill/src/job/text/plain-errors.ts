/** Errors in the fields of log lines, as plain data: JSON drops their name, message, stack and cause. */
import { isError, storableText } from './error-text.ts'

/** Together they fit into the fields of a stored line. */
const LONGEST_MESSAGE = 1_000
const LONGEST_STACK = 2_000
const MOST_CAUSES = 3
/** How deep fields are searched for errors. This also ends the walk of a cycle. */
const DEEPEST = 4

export type LogFields = Readonly<Record<string, unknown>> | Error

/** The fields with plain errors. The same object if there is no error in it. */
export function plainErrors(fields: LogFields): Readonly<Record<string, unknown>> {
  try {
    const whole = isError(fields) ? { err: fields } : fields
    return plain(whole, 0) as Readonly<Record<string, unknown>>
  } catch {
    // Reading may fail, for example on a revoked proxy. The logger decides what to do with the value.
    return fields as Readonly<Record<string, unknown>>
  }
}

/** The error that a line is about: loggers such as pino format the field `err` on their own. */
export function errorIn(fields: LogFields): Error | undefined {
  try {
    const { err, error } = fields as { readonly err?: unknown; readonly error?: unknown }
    return [fields, err, error].find(isError)
  } catch {
    return undefined
  }
}

function plain(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value
  if (isError(value)) return plainError(value, 0)
  if (Array.isArray(value)) {
    const parts = value.map((one) => plain(one, depth + 1))
    return parts.every((part, at) => part === value[at]) ? value : parts
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  const entries = Object.entries(value)
  const changed = entries.map(([key, part]) => [key, plain(part, depth + 1)] as const)
  return changed.every(([, part], at) => part === entries[at]?.[1]) ? value : Object.fromEntries(changed)
}

function plainError(error: Error, depth: number): object {
  // Plain JavaScript may set them to anything.
  const { name, message, stack, cause } = error as { [Key in keyof Error]: unknown }
  const code = 'code' in error ? error.code : undefined
  return {
    name: String(name),
    message: storableText(String(message), LONGEST_MESSAGE),
    ...(typeof stack === 'string' && { stack: storableText(stack, LONGEST_STACK) }),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(cause !== undefined && depth < MOST_CAUSES && { cause: plainCause(cause, depth + 1) }),
  }
}

function plainCause(cause: unknown, depth: number): unknown {
  return isError(cause) ? plainError(cause, depth) : storableText(String(cause), LONGEST_MESSAGE)
}
