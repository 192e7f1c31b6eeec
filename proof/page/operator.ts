/**
 * An operator at a page. Every act is counted here, and the browser counts the acts too: an act that bypasses
 * the operator fails the task.
 */
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { type Effort, NO_EFFORT } from './effort.ts'

export interface Operator {
  /** For reading, scrolling and waiting. */
  readonly page: Page
  readonly click: (target: Locator) => Promise<void>
  /** Clicks the control that leads to a search field, types the text and presses Enter. */
  readonly query: (field: Locator, text: string) => Promise<void>
  /** Replaces the text of a field. */
  readonly type: (field: Locator, value: string) => Promise<void>
  readonly press: (...keys: readonly string[]) => Promise<void>
  /** Forgets the acts so far: they only led to where the task starts. */
  readonly startHere: () => void
  /** Throws if the page saw other acts than these. */
  readonly effort: () => Promise<Effort>
  /** The acts in words, for the report of a failure. The last one may be under way. */
  readonly acts: readonly string[]
}

/** What the browser sees of the acts. A click by a program has no pointer. */
interface Seen {
  readonly loads: number
  readonly pointers: number
  readonly scripted: number
  readonly keys: number
  readonly inputs: number
}

const KEPT = 'proof.seen'
const WATCH = `(() => {
  const seen = JSON.parse(sessionStorage.getItem('${KEPT}') ?? '{"loads":0,"pointers":0,"scripted":0,"keys":0,"inputs":0}')
  const count = (what) => { seen[what] += 1; sessionStorage.setItem('${KEPT}', JSON.stringify(seen)) }
  count('loads')
  addEventListener('pointerdown', () => count('pointers'), true)
  addEventListener('click', (event) => { if (!event.isTrusted) count('scripted') }, true)
  addEventListener('keydown', (event) => { if (event.isTrusted) count('keys') }, true)
  addEventListener('input', () => count('inputs'), true)
})()`

/** Opens the page where the task starts, which costs nothing. */
export async function operatorAt(context: BrowserContext, url: string): Promise<Operator> {
  const page = await context.newPage()
  await page.addInitScript(WATCH)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  let all = NO_EFFORT
  let start = NO_EFFORT
  const acts: string[] = []
  const add = (what: keyof Effort, act: string): void => {
    all = { ...all, [what]: all[what] + 1 }
    acts.push(act)
  }
  await page.goto(url)
  await page.getByRole('heading', { level: 1 }).waitFor()

  return {
    page,
    acts,
    async click(target) {
      add('clicks', `click ${nameOf(target)}`)
      await target.click()
    },
    async query(field, text) {
      add('queries', `search ${text}`)
      await field.click()
      await page.locator('input:focus').waitFor()
      await page.keyboard.insertText(text)
      await page.keyboard.press('Enter')
    },
    async type(field, value) {
      add('values', `type ${value} into ${nameOf(field)}`)
      await field.click()
      await field.selectText()
      await page.keyboard.insertText(value)
    },
    async press(...keys) {
      for (const key of keys) {
        add('keys', `press ${key}`)
        await page.keyboard.press(key)
      }
    },
    startHere() {
      start = all
    },
    async effort() {
      if (complaints.length > 0) throw new Error(`the page threw ${complaints.join('; ')}`)
      const seen = JSON.parse(String(await page.evaluate(`sessionStorage.getItem('${KEPT}')`))) as Seen
      const typed = all.queries + all.values
      const counted: Seen = {
        loads: 1,
        pointers: all.clicks + typed,
        scripted: 0,
        keys: all.keys + all.queries,
        inputs: typed,
      }
      for (const what of Object.keys(counted) as (keyof Seen)[])
        if (seen[what] !== counted[what])
          throw new Error(`the page saw ${seen[what]} ${what}, and the operator counted ${counted[what]}`)
      return {
        clicks: all.clicks - start.clicks,
        queries: all.queries - start.queries,
        values: all.values - start.values,
        keys: all.keys - start.keys,
      }
    },
  }
}

/** The last part of a locator: `getByRole('button', { name: 'Pause mail' })`. */
function nameOf(target: Locator): string {
  const text = String(target)
  return text.slice(Math.max(0, text.lastIndexOf('getBy')))
}
