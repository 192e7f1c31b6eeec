/** What the user is allowed to do. The server decides; actions that it would refuse are not offered. */
import { useOverview } from '../reads.ts'
import type { Overview } from '../types.ts'

export type Role = Overview['you']['role']

const RANK: Readonly<Record<Role, number>> = { producer: -1, viewer: 0, operator: 1, admin: 2 }

export function useMay(): (role: Role) => boolean {
  const role = useOverview().data?.you.role
  return (needed) => role !== undefined && RANK[role] >= RANK[needed]
}
