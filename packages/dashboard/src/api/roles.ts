/** What the user is allowed to do. The server decides; actions that it would refuse are not offered. */
import { useOverview } from './reads.ts'

const RANK: Readonly<Record<string, number>> = { viewer: 0, operator: 1, admin: 2 }

export type Role = 'viewer' | 'operator' | 'admin'

export function useMay(): (role: Role) => boolean {
  const role = useOverview().data?.you.role
  return (needed) => role !== undefined && (RANK[role] ?? -1) >= (RANK[needed] ?? 9)
}
