/** A task of an operator: what the best rival needs for it, and how Mission Control does it. */
import type { Page } from 'playwright-core'
import { type Effort, effort } from '../effort.ts'
import type { Operator } from '../operator.ts'
import type { Scene } from '../scene/scene.ts'
import { until } from '../until.ts'

export interface Stage {
  readonly scene: Scene
  readonly op: Operator
  /** Another browser at an address of Mission Control. */
  readonly visit: (address: string, options?: Visit) => Promise<Page>
  /** The themes in which pages are checked. */
  readonly themes: readonly Theme[]
}

export type Theme = 'light' | 'dark'

export interface Visit {
  readonly colours?: Theme
}

export interface Task {
  readonly id: string
  readonly name: string
  readonly rival: Rival
  /** Where the operator is; the overview if omitted. */
  readonly startsAt?: (scene: Scene) => Promise<string>
  /** The width of the window in pixels (default 1440). */
  readonly width?: number
  /** Throws if the result is not reached. */
  readonly perform: (stage: Stage) => Promise<void>
}

export interface Rival {
  /** The product that needs the least. */
  readonly who: string
  readonly needs: Effort
}

/** The review of the dashboards names the lowest effort, but not the product. */
export const REVIEWED = 'best reviewed'

export const rival = (who: string, needs: Partial<Effort> = {}): Rival => ({ who, needs: effort(needs) })

/** Waits until the audit log has this change. */
export async function audited({ mill }: Scene, what: string, target?: string): Promise<void> {
  await until(
    `the audit entry ${what} of ${target ?? 'any target'}`,
    async () => (await mill.audit.list({ limit: 50 })).entries.map((one) => `${one.what} ${one.target}`),
    (entries) =>
      entries.some((one) =>
        target === undefined ? one.startsWith(`${what} `) : one === `${what} ${target}`,
      ),
  )
}

export const navigation = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name })

/** The row of a table, by the start of its text. */
export const rowOf = (page: Page, table: string | RegExp, start: string) =>
  page.getByRole('table', { name: table }).getByRole('row', { name: new RegExp(`^${start}`) })
