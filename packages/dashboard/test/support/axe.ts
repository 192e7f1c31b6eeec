/**
 * Runs axe inside the page, through the browser's own API, because the headers of the dashboard forbid
 * foreign scripts.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeViolation {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  .map((tag) => `'${tag}'`)
  .join(', ')

/** Violations of WCAG A and AA, and of good practice: one line per rule, with the first elements. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(SOURCE)
  const results = (await page.evaluate(
    `axe.run(document, { runOnly: [${TAGS}], resultTypes: ['violations'] })`,
  )) as AxeViolation
  return results.violations.flatMap(({ id, help, nodes }) =>
    nodes
      .slice(0, 3)
      .map(
        ({ html, failureSummary = '' }) =>
          `${id}: ${help}: ${html.slice(0, 200)} (${failureSummary.replaceAll(/\s+/g, ' ').slice(0, 300)})`,
      ),
  )
}
