/**
 * Validates whole numbers and other simple values. Nothing is silently clamped: out of bounds is an error.
 */
import { invalidValue } from './errors.ts'

export function checkWhole(
  value: unknown,
  field: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
  const fix = `Pass a whole number from ${least} to ${most}`
  const what = Number.isInteger(value) ? 'is out of bounds' : 'must be a whole number'
  throw invalidValue(field, value, what, fix, 'NUMBER_INVALID')
}

export function checkBoolean(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value
  throw invalidValue(field, value, 'must be true or false', 'Pass true or false, without quotes')
}

export function checkArray(
  value: unknown,
  field: string,
  fix = 'Pass an array, even for a single value',
): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw invalidValue(field, value, 'must be an array', fix)
}

export function checkOneOf<T extends string>(value: unknown, field: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value)
  if (found !== undefined) return found
  throw invalidValue(field, value, 'is not an allowed value', `Use one of: ${allowed.join(', ')}`)
}

/** Undefined, or something with the methods of an AbortSignal. */
export function checkSignal(value: unknown, field: string): void {
  if (value === undefined) return
  if (typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value) return
  const fix = 'Pass the signal of an AbortController, not the controller'
  throw invalidValue(field, value, 'must be an AbortSignal', fix)
}

/** `fix` says which function to pass. */
export function checkFunction(
  value: unknown,
  field: string,
  fix: string,
): asserts value is (...given: never[]) => unknown {
  if (typeof value === 'function') return
  throw invalidValue(field, value, 'must be a function', fix, 'HANDLER_INVALID')
}

export function checkText(value: unknown, field: string, fix: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value
  throw invalidValue(field, value, 'must be a non-empty string', fix)
}

/** Checks an option that replaces the clocks and timers. */
export function checkPlatform(value: unknown): void {
  if (typeof value === 'object' && value !== null && 'timer' in value && 'monotonic' in value) return
  const fix = 'Pass { ...systemPlatform } with the methods that you replace, or omit it'
  throw invalidValue('platform', value, 'must have the methods of a Platform', fix)
}
