/** Reads and writes the code and overrides columns of queues and limits. */
import type { Overrides } from '../../job/queue/overrides.ts'

export function sourcesOf<Code>(row: { readonly code: string | null; readonly overrides: string }): {
  readonly code: Code | null
  readonly overrides: Overrides
} {
  return {
    code: row.code === null ? null : (JSON.parse(row.code) as Code),
    overrides: JSON.parse(row.overrides) as Overrides,
  }
}

export function codeText(code: object | null): string | null {
  return code === null ? null : JSON.stringify(code)
}
