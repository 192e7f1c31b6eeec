/** Refuses unknown options, so that a typo is never ignored. */
import { ClientError } from './http/client-error.ts'

export function refuseOthers(given: object, known: readonly string[]): void {
  const other = Object.keys(given).find((key) => !known.includes(key))
  if (other === undefined) return
  throw new ClientError('OPTION_INVALID', 'is not a known option', {
    field: other,
    fix: `Use one of ${known.join(', ')}`,
  })
}
