/** Screenshots of tasks that failed. */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { BrowserContext } from 'playwright-core'

const FOLDER = path.resolve(import.meta.dirname, '../../reports/page')

/** All open pages: that of the operator, and those of others. A page that does not answer is left out. */
export async function shoot(contexts: readonly BrowserContext[], name: string): Promise<string[]> {
  mkdirSync(FOLDER, { recursive: true })
  const pages = contexts.flatMap((context) => context.pages())
  const files: string[] = []
  for (const [at, page] of pages.entries()) {
    const file = path.join(FOLDER, `${name}${at === 0 ? '' : `-${at + 1}`}.png`)
    const isShot = await page.screenshot({ path: file, timeout: 10_000 }).then(
      () => true,
      () => false,
    )
    if (isShot) files.push(path.relative(process.cwd(), file))
  }
  return files
}
