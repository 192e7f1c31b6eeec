/** Refuses unknown options, so that a typo is never ignored. */
import { ClientError } from './http/client-error.ts'

export function refuseOthers(given: unknown, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null)
    throw new ClientError('OPTION_INVALID', 'must be an object', {
      field: 'options',
      fix: `Pass an object with some of ${known.join(', ')}`,
    })
  const other = Object.keys(given).find((key) => !known.includes(key))
  if (other === undefined) return
  throw new ClientError('OPTION_INVALID', 'is not a known option', {
    field: other,
    fix: `Use one of ${known.join(', ')}`,
  })
}
