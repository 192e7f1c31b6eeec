/** Reads and writes the code and overrides columns of queues and limits. */
import type { Overrides } from '../../job/queue/overrides.ts'
import type { Value } from '../connection/handle.ts'

export function sourcesOf<Code>(row: { readonly code: string | null; readonly overrides: string }): {
  readonly code: Code | null
  readonly overrides: Overrides
} {
  return {
    code: row.code === null ? null : (JSON.parse(row.code) as Code),
    overrides: JSON.parse(row.overrides) as Overrides,
  }
}

/** The values of both columns. */
export function sourceTexts({ code, overrides }: ReturnType<typeof sourcesOf<object>>): Value[] {
  return [codeText(code), JSON.stringify(overrides)]
}

export function codeText(code: object | null): string | null {
  return code === null ? null : JSON.stringify(code)
}
