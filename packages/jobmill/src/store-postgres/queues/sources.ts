/** Parses the values from code and the overrides in rows of queues and limits. */
import type { Overrides } from '../../job/queue/overrides.ts'
import type { Row } from '../connection/connection.ts'

export function sourcesOf<Code>(row: Row): { readonly code: Code | null; readonly overrides: Overrides } {
  const code = row['code'] as string | null
  return {
    code: code === null ? null : (JSON.parse(code) as Code),
    overrides: JSON.parse(row['overrides'] as string) as Overrides,
  }
}
