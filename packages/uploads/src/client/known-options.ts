/** Options that there are not: refused by their name, so that a typo is never ignored. */
import { ClientError } from './client-error.ts'

export function refuseOthers(given: object, known: readonly string[]): void {
  const other = Object.keys(given).find((key) => !known.includes(key))
  if (other === undefined) return
  throw new ClientError('OPTION_INVALID', 'is not an option', {
    field: other,
    fix: `Known are ${known.join(', ')}`,
  })
}
