/** The list of jobs: it holds still while it is used, searches on its own, and returns the focus. */
import type { Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { systemPlatform } from '../../jobmill/src/store.ts'
import { holdRows } from '../src/kit/table/held-rows.ts'
import { mission } from './support/mission.ts'

const ids = (page: Page) =>
  page.locator('[data-job]').evaluateAll((rows) => rows.map((row) => row.dataset['job']))

/** Each look at this clock takes most of the time that one request may scan. */
let lookMs = 0
let elapsedMs = 0
const platform = {
  ...systemPlatform,
  monotonic: () => systemPlatform.monotonic() + (elapsedMs += lookMs),
}

/** As if the user went to another tab, or returned. */
async function hide(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, isHidden)
}

mission(
  'lists of jobs',
  (at, test) => {
    test.nightly(
      'rows keep their place under the pointer and the focus, and newer ones are counted',
      async () => {
        const before = holdRows(
          [
            { id: 'a', state: 'ready' },
            { id: 'b', state: 'ready' },
          ],
          [
            { id: 'c', state: 'ready' },
            { id: 'a', state: 'running' },
          ],
        )
        expect(before).toEqual({
          rows: [
            { id: 'a', state: 'running' },
            { id: 'b', state: 'ready' },
          ],
          fresh: 1,
        })

        const add = async (many: number): Promise<string[]> => {
          const items = Array.from({ length: many }, (_, payload) => ({ payload, queue: 'held' }))
          return (await at.mill.enqueueMany('nobodys', items)).map(({ id }) => id)
        }
        const first = await add(3)
        const page = await at.open('/jobs?queue=held')
        await expect.poll(async () => new Set(await ids(page))).toEqual(new Set(first))
        const order = await ids(page)
        await page.getByRole('table', { name: 'Jobs' }).hover()
        const more = await add(2)
        await page.getByRole('button', { name: '2 new' }).waitFor()
        expect(await ids(page)).toEqual(order)
        // Known rows show their newest state.
        await at.mill.cancel(first[0] ?? '')
        await page.locator(`[data-job="${first[0]}"]`).getByText('cancelled').waitFor()
        await page.mouse.move(0, 0)
        await expect.poll(async () => new Set(await ids(page))).toEqual(new Set([...first, ...more]))

        await page.keyboard.press('j')
        await add(1)
        await page.getByRole('button', { name: '1 new' }).waitFor()
        expect(await ids(page)).toHaveLength(5)
        await at.expectAccessible(page)
        await page.getByRole('button', { name: '1 new' }).click()
        await expect.poll(async () => ids(page)).toHaveLength(6)

        // An action of the user shows its result at once.
        await page.keyboard.press('j')
        await add(1)
        await page.getByRole('button', { name: '1 new' }).waitFor()
        await page.keyboard.press('r')
        await expect.poll(async () => ids(page)).toHaveLength(7)
      },
    )

    test('the color of a state always matches its word while rows change state', async () => {
      const items = Array.from({ length: 6 }, (_, n) => ({ payload: n, queue: 'mail', delay: '1h' }))
      const made = await at.mill.enqueueMany('echo', items)
      const page = await at.open('/jobs?queue=mail')
      await expect.poll(async () => ids(page)).toHaveLength(6)
      // Reads every row at each change of the table and in each frame, as the browser draws it.
      const watched = await page.evaluateHandle(() => {
        const seen = new Set<string>()
        const wrong = new Set<string>()
        const colours = new Map<string, string>()
        for (const state of ['scheduled', 'ready', 'running', 'done', 'dead', 'cancelled']) {
          const probe = document.createElement('span')
          probe.style.color = `var(--c-${state})`
          document.body.append(probe)
          colours.set(state, getComputedStyle(probe).color)
          probe.remove()
        }
        const look = (): void => {
          for (const row of document.querySelectorAll('[data-job]')) {
            // By its word: the table has one column fewer until the role of the user is known.
            const badge = [...row.querySelectorAll('td > span')].find((span) => colours.has(span.textContent))
            const dot = badge?.firstElementChild
            if (badge === undefined || dot === null || dot === undefined) continue
            const word = badge.textContent
            seen.add(word)
            const drawn = [getComputedStyle(badge).color, getComputedStyle(dot).backgroundColor]
            if (drawn.some((one) => one !== colours.get(word))) wrong.add(`${word}: ${drawn.join(' ')}`)
          }
        }
        new MutationObserver(look).observe(document.body, {
          subtree: true,
          childList: true,
          attributes: true,
          characterData: true,
        })
        const frame = (): void => {
          look()
          requestAnimationFrame(frame)
        }
        frame()
        return { all: () => ({ seen: [...seen].toSorted(), wrong: [...wrong] }) }
      })
      const [first, second, ...others] = made.map(({ id }) => id)
      await at.mill.pause('mail')
      await at.mill.runNow(first ?? '')
      await at.mill.cancel(second ?? '')
      await page.locator(`[data-job="${first}"]`).getByText('ready').first().waitFor()
      await page.locator(`[data-job="${second}"]`).getByText('cancelled').waitFor()
      for (const id of others) await at.mill.runNow(id)
      await at.mill.resume('mail')
      for (const id of [first, ...others])
        await page.locator(`[data-job="${id}"]`).getByText('done').waitFor()
      const { seen, wrong } = await watched.evaluate((one) => one.all())
      expect(wrong).toEqual([])
      expect(seen).toEqual(expect.arrayContaining(['cancelled', 'done', 'ready', 'scheduled']))
    })

    test('a search continues on its own, can be stopped, rests in a hidden tab, and is there again after Back', async () => {
      lookMs = 600
      onTestFinished(() => {
        lookMs = 0
      })
      const payload = { customer: { id: 'cus_4711' } }
      const waits = { queue: 'hay', delay: '1h' } as const
      const { id } = await at.mill.enqueue('echo', payload, { ...waits, tags: ['customer:cus_4711'] })
      await at.mill.enqueueMany(
        'echo',
        Array.from({ length: 70 }, (_, n) => ({ payload: n, ...waits })),
      )
      await at.mill.enqueue('echo', payload, waits)

      const page = await at.open('/queues', { hasClock: true })
      let continuations = 0
      page.on('request', (request) => {
        if (request.url().includes('cursor=')) continuations += 1
      })
      // The second request has to wait, so that the first part can be seen.
      const { promise: gate, resolve: openGate } = Promise.withResolvers<void>()
      await page.route(/cursor=/, async (route) => {
        await gate
        await route.continue().catch(() => undefined)
      })
      await page.goto(`${at.url}/jobs?payloadAt=customer.id:cus_4711`)
      await page.getByText(/^Searched 20 of about \d+ jobs\. 1 match$/).waitFor()
      await expect.poll(async () => ids(page)).toHaveLength(1)
      await page.getByRole('progressbar', { name: 'Search' }).waitFor()
      // Numbers of all jobs would read as a result.
      await page.getByRole('link', { name: 'all', exact: true }).waitFor()
      await page.getByRole('button', { name: 'Search by tag' }).waitFor()
      await at.expectAccessible(page)
      await page.clock.runFor(5_000)
      expect(continuations).toBe(1)
      await page.getByRole('button', { name: 'Stop' }).click()
      openGate()
      await page.getByRole('button', { name: 'Keep searching' }).waitFor()

      await hide(page, true)
      await page.getByRole('button', { name: 'Keep searching' }).click()
      await page.clock.runFor(60_000)
      expect(continuations).toBe(1)
      await hide(page, false)
      await page.getByText(/^Searched all \d+ jobs\. 2 matches$/).waitFor()
      expect(continuations).toBeGreaterThan(2)

      const searched = continuations
      await page.locator(`[data-job="${id}"] [data-open]`).click()
      await page.waitForURL(`**/jobs/${id}`)
      await page.keyboard.press('[')
      await page.waitForURL((url) => !url.pathname.endsWith(id))
      await page.keyboard.press(']')
      await page.waitForURL(`**/jobs/${id}`)
      await page.goBack()
      await page.getByText(/^Searched all \d+ jobs\. 2 matches$/).waitFor()
      await expect
        .poll(() =>
          page.evaluate(() => document.activeElement?.closest<HTMLElement>('[data-job]')?.dataset['job']),
        )
        .toBe(id)
      expect(continuations).toBe(searched)
      // What the user does shows at once.
      await at.mill.cancel(id)
      await page.keyboard.press('r')
      await page.locator(`[data-job="${id}"]`).getByText('cancelled').waitFor()
      expect(continuations).toBe(searched)
    })

    test.nightly('the page of a kind does not say that it has no jobs before all were searched', async () => {
      const waits = { queue: 'hay', delay: '1h' } as const
      await at.mill.enqueue('greet', { text: 'old' }, waits)
      await at.mill.enqueueMany(
        'echo',
        Array.from({ length: 30 }, (_, n) => ({ payload: n, ...waits })),
      )
      lookMs = 600
      onTestFinished(() => {
        lookMs = 0
      })
      const page = await at.open('/kinds/greet')
      await page.getByText(/^Searched the newest 1\d jobs\./).waitFor()
      expect(await page.getByText('No jobs of this kind').count()).toBe(0)
      lookMs = 0
      await page.getByRole('link', { name: 'Keep searching' }).click()
      await page.getByRole('row', { name: /greet/ }).waitFor()
    })
  },
  { platform },
)
