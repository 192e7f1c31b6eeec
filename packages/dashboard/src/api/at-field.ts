/** Finds the form field that a problem reported by the server belongs to, and the text to show there. */
import { sentence } from '../kit/text/format.ts'

/** The parts of a problem that are needed here. */
interface Said {
  readonly message: string
  readonly field?: string | undefined
  readonly fix?: string | undefined
}

export interface AtField<Name extends string> {
  /** Null when the problem is not about one of the form's fields. */
  readonly field: Name | null
  readonly says: string
}

/**
 * The server reports fields as paths, such as `job.delay` or `jobs.1.payload.user`. The form matches the part
 * for which it has a field.
 */
export function atField<Name extends string>(
  { message, field = '', fix }: Said,
  names: readonly Name[],
): AtField<Name> {
  const parts = field.split(/[.[\]]+/).filter((part) => part !== '')
  const at = parts.findIndex((part) => (names as readonly string[]).includes(part))
  const inside = at === -1 ? [] : parts.slice(at + 1)
  const plain = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message
  const whole = fix === undefined || plain.includes(fix) ? plain : `${plain}. ${fix}.`
  const says = inside.length === 0 ? whole : `${inside.join('.')} ${whole}`
  return {
    field: at === -1 ? null : (parts[at] as Name),
    says: sentence(says),
  }
}
