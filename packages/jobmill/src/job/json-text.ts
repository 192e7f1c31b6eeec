/**
 * Values as JSON text, without loss: what `JSON.stringify` would drop or turn into null in silence is
 * refused by the path where it stands.
 */
import { BOUNDS } from './defaults.ts'
import { isJobmillError, JobmillError, pathOf, shown } from './errors.ts'

/** The JSON text of `value`; throws with the path of the first part that JSON cannot keep. */
export function jsonText(
  value: unknown,
  field: string,
  limitBytes: number,
  fix = 'Keep the data elsewhere and pass a reference, or raise payloadLimitBytes',
): string {
  const room = { left: limitBytes, limitBytes, field, fix }
  const text = checkedText(value, field, room)
  // A character takes three bytes at most: what is that short need not be counted.
  if (text.length * 3 <= limitBytes) return text
  const bytes = Buffer.byteLength(text)
  if (bytes > limitBytes) throw tooLarge(field, String(bytes), limitBytes, fix)
  return text
}

/** For what is JSON text already: a result or a note of progress. */
export function checkJsonText(text: unknown, field: string, limitBytes: number): void {
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : 0
  if (bytes > limitBytes)
    throw tooLarge(field, String(bytes), limitBytes, 'Keep the data elsewhere and return a reference')
  try {
    if (typeof text === 'string') JSON.parse(text)
    else throw new TypeError('not a text')
  } catch (cause) {
    throw new JobmillError('PAYLOAD_NOT_JSON', 'is not the text of a JSON value', {
      field,
      value: shown(text),
      fix: 'Pass what JSON.stringify gives',
      cause,
    })
  }
}

function tooLarge(field: string, bytes: string, limitBytes: number, fix: string): JobmillError {
  return new JobmillError('PAYLOAD_TOO_LARGE', `has more than ${limitBytes} bytes as JSON`, {
    field,
    value: `${bytes} bytes`,
    fix,
  })
}

/** What may still come. Each part takes at least as many bytes as it is counted here, so that a walk ends early in what is far too large. */
interface Room {
  left: number
  readonly limitBytes: number
  readonly field: string
  readonly fix: string
}

function full({ field, limitBytes, fix }: Room): JobmillError {
  return tooLarge(field, `at least ${limitBytes + 1}`, limitBytes, fix)
}

function checkedText(value: unknown, field: string, room: Room): string {
  const { left } = room
  try {
    if (isPlain(value, 0, room)) {
      const text = JSON.stringify(value)
      // What no text may have is escaped in JSON, and hardly anything else is.
      if (!text.includes('\\u')) return text
    }
    // All that came before fits in JSON.
    if (room.left < 0) throw full(room)
    room.left = left
    checkPart(value, field, '', [], room)
    return JSON.stringify(value)
  } catch (cause) {
    if (isJobmillError(cause)) throw cause
    throw new JobmillError('PAYLOAD_NOT_JSON', 'has a getter or a toJSON method that failed', {
      field,
      fix: 'Pass plain data',
      cause,
    })
  }
}

/**
 * Whether JSON keeps all of it, texts aside. A quick look at what most payloads are; the thorough one below has the last word on everything else, and finds
 * the path of what is refused.
 */
function isPlain(value: unknown, depth: number, room: Room): boolean {
  room.left -= typeof value === 'string' ? value.length + 2 : 1
  if (room.left < 0) return false
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return Number.isFinite(value)
  // A cycle ends here too.
  if (typeof value !== 'object' || depth >= BOUNDS.jsonDepth) return false
  return Array.isArray(value) ? isPlainArray(value, depth, room) : isPlainObject(value, depth, room)
}

function isPlainArray(value: readonly unknown[], depth: number, room: Room): boolean {
  if ('toJSON' in value) return false
  for (let at = 0; at < value.length; at += 1) if (!isPlain(value[at], depth + 1, room)) return false
  return true
}

function isPlainObject(value: object, depth: number, room: Room): boolean {
  if (Object.getPrototypeOf(value) !== Object.prototype || 'toJSON' in value) return false
  for (const key of Object.keys(value)) {
    const part = (value as Readonly<Record<string, unknown>>)[key]
    room.left -= key.length
    if (part !== undefined && !isPlain(part, depth + 1, room)) return false
  }
  return true
}

function checkPart(value: unknown, path: string, key: string, above: readonly object[], room: Room): void {
  room.left -= typeof value === 'string' ? value.length + 2 : 1
  if (room.left < 0) throw full(room)
  switch (typeof value) {
    case 'string':
      return checkText(value, path)
    case 'number':
      if (!Number.isFinite(value)) refuse(path, value, 'JSON has no NaN or Infinity', 'Use null, or a text')
      return
    case 'boolean':
      return
    case 'object':
      return value === null ? undefined : checkObject(value, path, key, above, room)
    case 'undefined':
      return refuse(path, value, 'JSON has no undefined', 'Use null')
    case 'bigint':
      return refuse(path, value, 'JSON has no BigInt', 'Use a number, or a text')
    default:
      return refuse(path, value, `JSON has no ${typeof value}`, 'Pass plain data')
  }
}

function checkObject(value: object, path: string, key: string, above: readonly object[], room: Room): void {
  if (!('toJSON' in value) || typeof value.toJSON !== 'function') return checkInside(value, path, above, room)
  if (value instanceof Date && Number.isNaN(value.getTime())) {
    refuse(path, value, 'is not a valid date', 'Give a date that exists, or null')
  }
  const told = (value as { toJSON: (key: string) => unknown }).toJSON(key)
  // As JSON.stringify does it: what toJSON returns is not asked for its own toJSON.
  if (typeof told === 'object' && told !== null) checkInside(told, path, above, room)
  else checkPart(told, path, key, above, room)
}

/** What JSON writes as an empty object, or as something else than it is. By tag: they may come from another realm. */
const LOST = new Set(
  'ArrayBuffer BigInt Blob Boolean Date Error File FormData Headers Map Number RegExp Set SharedArrayBuffer String'
    .concat(' Symbol URLSearchParams WeakMap WeakRef WeakSet')
    .split(' '),
)

function checkInside(value: object, path: string, above: readonly object[], room: Room): void {
  if (above.includes(value)) refuse(path, value, 'refers back to an object that holds it', 'Break the cycle')
  if (above.length >= BOUNDS.jsonDepth) {
    refuse(path, value, `is nested more than ${BOUNDS.jsonDepth} levels deep`, 'Make the data flatter')
  }
  const around = [...above, value]
  if (Array.isArray(value)) {
    // By index, not forEach: a hole in the array is an undefined too.
    for (let at = 0; at < value.length; at += 1)
      checkPart(value[at], `${path}[${at}]`, String(at), around, room)
    return
  }
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1)
  if (tag === 'Promise') refuse(path, value, 'is a promise', 'Await it first')
  if (LOST.has(tag) || ArrayBuffer.isView(value)) {
    refuse(
      path,
      value,
      `JSON would lose what this ${tag} holds`,
      'Turn it into an array, a plain object or a text',
    )
  }
  for (const [key, part] of Object.entries(value)) {
    room.left -= key.length
    checkText(key, pathOf(path, key))
    // An optional property that is undefined and one that is absent are the same to JSON and to readers.
    if (part !== undefined) checkPart(part, pathOf(path, key), key, around, room)
  }
}

function checkText(text: string, path: string): void {
  if (text.includes('\u0000'))
    refuse(path, text, 'has a NUL character, which PostgreSQL cannot keep', 'Remove it')
  if (!text.isWellFormed()) {
    refuse(path, text, 'has half of a surrogate pair', 'Cut texts between characters, or use toWellFormed()')
  }
}

function refuse(field: string, value: unknown, what: string, fix: string): never {
  throw new JobmillError('PAYLOAD_NOT_JSON', what, { field, value: shown(value), fix })
}
