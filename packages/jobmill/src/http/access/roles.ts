/** Who may do what: each role may do all that those before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

export function isRole(value: unknown): value is Role {
  return ROLES.includes(value as Role)
}

/** Somebody who asks. */
export interface Who {
  /** For the audit: the name of the token. */
  readonly name: string
  readonly role: Role
}

export function mayDo(who: Who, needed: Role): boolean {
  return ROLES.indexOf(who.role) >= ROLES.indexOf(needed)
}
