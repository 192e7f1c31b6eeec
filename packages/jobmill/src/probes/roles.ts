/** Roles. A producer enqueues jobs and sends events, and reads no data. A viewer only reads. */
export const ROLES = ['producer', 'viewer', 'operator', 'admin'] as const
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

/** What each role includes. */
const INCLUDES: Readonly<Record<Role, readonly Role[]>> = {
  producer: ['producer'],
  viewer: ['viewer'],
  operator: ['producer', 'viewer', 'operator'],
  admin: ROLES,
}

export function mayDo(who: Who, needed: Role): boolean {
  return INCLUDES[who.role].includes(needed)
}
