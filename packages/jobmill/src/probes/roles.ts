/** Roles. Each role includes the permissions of those before it. */
export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

export function isRole(value: unknown): value is Role {
  return ROLES.includes(value as Role)
}

/** An authenticated caller. */
export interface Who {
  /** The name of the token, or the one that `authenticate` returned. Shown in the audit log. */
  readonly name: string
  readonly role: Role
}

export function mayDo(who: Who, needed: Role): boolean {
  return ROLES.indexOf(who.role) >= ROLES.indexOf(needed)
}
