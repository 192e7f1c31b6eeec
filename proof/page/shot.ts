/** Screenshots of tasks that failed. */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'

const FOLDER = path.resolve(import.meta.dirname, '../../reports/page')

/** The page that was opened last. Null if there is none, or if it does not answer. */
export async function shoot(contexts: readonly BrowserContext[], name: string): Promise<string | null> {
  const page: Page | undefined = contexts.flatMap((context) => context.pages()).at(-1)
  if (page === undefined) return null
  mkdirSync(FOLDER, { recursive: true })
  const file = path.join(FOLDER, `${name}.png`)
  try {
    await page.screenshot({ path: file, timeout: 10_000 })
    return path.relative(process.cwd(), file)
  } catch {
    return null
  }
}
