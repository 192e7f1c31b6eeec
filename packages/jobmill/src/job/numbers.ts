/**
 * Validates whole numbers and other simple values. Nothing is silently clamped: out of bounds is an error.
 */
import { JobmillError, quote } from './errors.ts'

export function checkWhole(
  value: unknown,
  field: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
  throw new JobmillError(
    'NUMBER_INVALID',
    Number.isInteger(value) ? 'is out of bounds' : 'must be a whole number',
    {
      field,
      value: quote(value),
      fix: `Pass a whole number from ${least} to ${most}`,
    },
  )
}

export function checkBoolean(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value
  throw new JobmillError('OPTION_INVALID', 'must be true or false', {
    field,
    value: quote(value),
    fix: 'Pass true or false, without quotes',
  })
}

export function checkArray(value: unknown, field: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new JobmillError('OPTION_INVALID', 'must be an array', {
    field,
    value: quote(value),
    fix: 'Pass an array, even for a single value',
  })
}

export function checkOneOf<T extends string>(value: unknown, field: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value)
  if (found !== undefined) return found
  throw new JobmillError('OPTION_INVALID', 'is not an allowed value', {
    field,
    value: quote(value),
    fix: `Use one of: ${allowed.join(', ')}`,
  })
}

/** Undefined, or something with the methods of an AbortSignal. */
export function checkSignal(value: unknown, field: string): void {
  if (value === undefined) return
  if (typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value) return
  throw new JobmillError('OPTION_INVALID', 'must be an AbortSignal', {
    field,
    value: quote(value),
    fix: 'Pass the signal of an AbortController, not the controller',
  })
}

/** `fix` says which function to pass. */
export function checkFunction(value: unknown, field: string, fix: string): void {
  if (typeof value === 'function') return
  throw new JobmillError('HANDLER_INVALID', 'must be a function', { field, value: quote(value), fix })
}

export function checkText(value: unknown, field: string, fix: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value
  throw new JobmillError('OPTION_INVALID', 'must be a non-empty string', { field, value: quote(value), fix })
}

/** Checks an option that replaces the clocks and timers. */
export function checkPlatform(value: unknown): void {
  if (typeof value === 'object' && value !== null && 'timer' in value && 'monotonic' in value) return
  throw new JobmillError('OPTION_INVALID', 'must have the methods of a Platform', {
    field: 'platform',
    value: quote(value),
    fix: 'Pass { ...systemPlatform } with the methods that you replace, or omit it',
  })
}
