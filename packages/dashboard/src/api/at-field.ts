/** Where in a form the problem of the server belongs, and what stands there. */

/** Of a problem: what this needs to know. */
interface Said {
  readonly message: string
  readonly field?: string | undefined
  readonly fix?: string | undefined
}

export interface AtField<Name extends string> {
  /** Null for what is about none of the fields. */
  readonly field: Name | null
  readonly says: string
}

/** Fields of the server are paths, such as `job.delay` or `jobs.1.payload.user`; the form knows the part that it has a field for. */
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
    says: says.charAt(0).toUpperCase() + says.slice(1),
  }
}
