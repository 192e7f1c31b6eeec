/** Performs a task in a new browser context, and compares its acts with those of the best rival. */
import { stripVTControlCharacters } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type Effort, effortText, isWithin } from './effort.ts'
import { type Operator, operatorAt } from './operator.ts'
import type { Scene } from './scene/scene.ts'
import { shoot } from './shot.ts'
import type { Task, Theme, Visit } from './tasks/task.ts'

export interface TaskResult {
  readonly id: string
  readonly name: string
  readonly rival: string
  readonly needs: Effort
  /** Null if the result was not reached. */
  readonly ours: Effort | null
  /** From the first act until the result was in the store. */
  readonly ms: number
  /** Why the task failed, and where; null if it did not. */
  readonly problem: string | null
}

interface Where {
  readonly scene: Scene
  readonly browser: Browser
  /** For the names of screenshots. */
  readonly store: string
  readonly themes: readonly Theme[]
}

export async function perform(task: Task, { scene, browser, store, themes }: Where): Promise<TaskResult> {
  const { id, name, rival, startsAt, width = 1_440 } = task
  const contexts: BrowserContext[] = []
  const newContext = async (colours: Theme): Promise<BrowserContext> => {
    const viewport = { width, height: width < 600 ? 844 : 900 }
    const context = await browser.newContext({ viewport, colorScheme: colours, reducedMotion: 'reduce' })
    contexts.push(context)
    return context
  }
  const visit = async (address: string, { colours = 'light' }: Visit = {}): Promise<Page> => {
    const context = await newContext(colours)
    // A new page is drawn once before the color scheme of the system reaches it, so store the theme.
    await context.addInitScript(
      (theme) => localStorage.setItem('jobmill.theme', JSON.stringify(theme)),
      colours,
    )
    const page = await context.newPage()
    await page.goto(`${scene.url}${address}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator(`html[data-theme=${colours}]`).waitFor({ state: 'attached' })
    return page
  }
  const result = { id, name, rival: rival.who, needs: rival.needs }
  let op: Operator | undefined
  let began = performance.now()
  const took = (): number => Math.round(performance.now() - began)
  try {
    const address = (await startsAt?.(scene)) ?? '/'
    op = await operatorAt(await newContext('light'), `${scene.url}${address}`)
    began = performance.now()
    await task.perform({ scene, op, visit, themes })
    const ms = took()
    const ours = await op.effort()
    const problem = isWithin(ours, rival.needs)
      ? null
      : `took ${effortText(ours)}, and ${rival.who} needs ${effortText(rival.needs)}: ${op.acts.join(', ')}`
    return { ...result, ours, ms, problem }
  } catch (error) {
    const ms = took()
    const shots = await shoot(contexts, `${store}-${id}`)
    return { ...result, ours: null, ms, problem: problemOf(error, op, shots) }
  } finally {
    for (const context of contexts) await context.close()
  }
}

function problemOf(error: unknown, op: Operator | undefined, shots: readonly string[]): string {
  const message = stripVTControlCharacters(error instanceof Error ? error.message : String(error)).trim()
  const lines = [message]
  if (op !== undefined) lines.push(`stopped at ${op.page.url()}, after: ${op.acts.join(', ') || 'no act'}`)
  if (shots.length > 0) lines.push(`screenshot: ${shots.join(', ')}`)
  return lines.join('\n')
}
