/**
 * Encodes values as JSON without loss. Anything that `JSON.stringify` would silently drop or turn into null
 * is refused, with its path. Only properties that are undefined are dropped.
 */
import { BOUNDS } from '../defaults.ts'
import { invalidValue, isJobmillError, JobmillError, pathOf, quote } from '../errors.ts'

/** The JSON text of `value`; throws with the path of the first part that JSON cannot represent. */
export function jsonText(
  value: unknown,
  field: string,
  limitBytes: number,
  fix = 'Store the data elsewhere and pass a reference, or raise payloadLimitBytes',
): string {
  const room = { left: limitBytes, limitBytes, field, fix }
  const text = checkedText(value, field, room)
  // A character takes at most three bytes, so a short text needs no exact count.
  if (text.length * 3 <= limitBytes) return text
  const bytes = Buffer.byteLength(text)
  if (bytes > limitBytes) throw tooLarge(field, String(bytes), limitBytes, fix)
  return text
}

/** Validates text that must be JSON already, such as a result, a progress value or an audit entry. */
export function checkJsonText(text: unknown, field: string, limitBytes: number): void {
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : 0
  if (bytes > limitBytes)
    throw tooLarge(field, String(bytes), limitBytes, 'Store the data elsewhere and pass a reference')
  try {
    if (typeof text === 'string') JSON.parse(text)
    else throw new TypeError('not a string')
  } catch (cause) {
    throw new JobmillError('PAYLOAD_NOT_JSON', 'must be JSON text', {
      field,
      value: quote(text),
      fix: 'Pass the output of JSON.stringify',
      cause,
    })
  }
}

function tooLarge(field: string, bytes: string, limitBytes: number, fix: string): JobmillError {
  return new JobmillError('PAYLOAD_TOO_LARGE', `exceeds ${limitBytes} bytes as JSON`, {
    field,
    value: `${bytes} bytes`,
    fix,
  })
}

/**
 * The remaining byte budget. Each part takes at least as many bytes as counted here, so a far too large value
 * ends the walk early.
 */
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
      // Characters that PostgreSQL refuses are escaped in JSON, and hardly any others are.
      if (!text.includes('\\u')) return text
    }
    // Everything before this point fits in JSON, so the size is the problem.
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
 * A fast check for typical payloads: whether JSON represents all of it, apart from the content of strings.
 * checkPart decides everything else, and finds the path of what is refused.
 */
function isPlain(value: unknown, depth: number, room: Room): boolean {
  room.left -= typeof value === 'string' ? value.length + 2 : 1
  if (room.left < 0) return false
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return Number.isFinite(value)
  // This also ends the walk of a cycle.
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
      if (!Number.isFinite(value)) refuse(path, value, 'JSON has no NaN or Infinity', 'Use null, or a string')
      return
    case 'boolean':
      return
    case 'object':
      return value === null ? undefined : checkObject(value, path, key, above, room)
    case 'undefined':
      return refuse(path, value, 'JSON has no undefined', 'Use null')
    case 'bigint':
      return refuse(path, value, 'JSON has no BigInt', 'Use a number, or a string')
    default:
      return refuse(path, value, `JSON has no ${typeof value}`, 'Pass plain data')
  }
}

function checkObject(value: object, path: string, key: string, above: readonly object[], room: Room): void {
  if (!('toJSON' in value) || typeof value.toJSON !== 'function') return checkInside(value, path, above, room)
  if (value instanceof Date && Number.isNaN(value.getTime())) {
    refuse(path, value, 'must be a valid date', 'Pass a valid date, or null')
  }
  const encoded = (value as { toJSON: (key: string) => unknown }).toJSON(key)
  // As JSON.stringify does: the return value of toJSON is not asked for its own toJSON.
  if (typeof encoded === 'object' && encoded !== null) checkInside(encoded, path, above, room)
  else checkPart(encoded, path, key, above, room)
}

/**
 * Types that JSON writes as an empty object or as another type. Matched by tag, because they may come from
 * another realm.
 */
const LOST = new Set(
  'ArrayBuffer BigInt Blob Boolean Date Error File FormData Headers Map Number RegExp Set SharedArrayBuffer String'
    .concat(' Symbol URLSearchParams WeakMap WeakRef WeakSet')
    .split(' '),
)

function checkInside(value: object, path: string, above: readonly object[], room: Room): void {
  if (above.includes(value)) refuse(path, value, 'is a circular reference', 'Break the cycle')
  if (above.length >= BOUNDS.jsonDepth) {
    refuse(path, value, `is nested more than ${BOUNDS.jsonDepth} levels deep`, 'Flatten the data')
  }
  const around = [...above, value]
  if (Array.isArray(value)) {
    // A loop by index, because forEach would skip a hole in the array, which is undefined too.
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
      `JSON would lose the content of this ${tag}`,
      'Convert it to an array, a plain object or a string',
    )
  }
  for (const [key, part] of Object.entries(value)) {
    room.left -= key.length
    checkText(key, pathOf(path, key))
    // To JSON and to readers, an undefined optional property equals an absent one.
    if (part !== undefined) checkPart(part, pathOf(path, key), key, around, room)
  }
}

function checkText(text: string, path: string): void {
  if (text.includes('\u0000'))
    refuse(path, text, 'has a NUL character, which PostgreSQL cannot store', 'Remove it')
  if (!text.isWellFormed()) {
    refuse(
      path,
      text,
      'has a lone surrogate, which is not valid Unicode',
      'Use toWellFormed(), or split strings between characters',
    )
  }
}

function refuse(field: string, value: unknown, what: string, fix: string): never {
  throw invalidValue(field, value, what, fix, 'PAYLOAD_NOT_JSON')
}
