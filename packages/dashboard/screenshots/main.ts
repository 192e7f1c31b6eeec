/**
 * Takes screenshots of every page for the docs, light, dark and on a phone, from a freshly seeded demo.
 * The browser encodes them as WebP, which takes a third of the size for text.
 *
 *   npm run screenshots -- [--out docs/images] [--only jobs]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { launch } from '../test/support/chromium.ts'
import { type Demo, seeded } from './seed.ts'

const { values } = parseArgs({
  options: { out: { type: 'string', default: 'docs/images' }, only: { type: 'string', default: '' } },
})

interface Picture {
  readonly name: string
  readonly path: string
  /** For pages with more content than fits on a screen. */
  readonly height?: number
  /** Runs before the screenshot is taken. */
  readonly act?: (page: Page) => Promise<void>
}

const LOOKS = [
  { look: 'light', colorScheme: 'light', width: 1_280, height: 860 },
  { look: 'dark', colorScheme: 'dark', width: 1_280, height: 860 },
  { look: 'phone', colorScheme: 'light', width: 390, height: 844 },
] as const

function picturesOf({ ids, mailbox }: Demo): Picture[] {
  const pictures: Picture[] = [
    { name: 'overview', path: '/', height: 1_320 },
    { name: 'jobs', path: '/jobs?state=dead' },
    { name: 'job', path: `/jobs/${ids.dead}` },
    { name: 'job-waiting', path: `/jobs/${ids.waiting}` },
    { name: 'job-running', path: `/jobs/${ids.running}` },
    { name: 'errors', path: '/errors' },
    { name: 'kind', path: '/kinds/payments.charge', height: 1_000 },
    { name: 'queues', path: '/queues' },
    { name: 'workers', path: '/workers' },
    { name: 'schedules', path: '/schedules' },
    { name: 'limits', path: '/limits' },
    { name: 'system', path: '/system' },
    { name: 'uploads', path: '/apps/uploads' },
    { name: 'mailbox', path: `/apps/uploads/${mailbox}` },
    {
      name: 'enqueue',
      path: '/jobs',
      act: (page) => page.getByRole('button', { name: 'Enqueue' }).first().click(),
    },
  ]
  return pictures.filter(({ name }) => name.includes(values.only))
}

/** Drawn on the canvas of a blank page, and read back from it. */
async function webp(browser: Browser, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage()
  const data = await page.evaluate(
    async (source) => {
      const image = new Image()
      image.src = source
      await image.decode()
      const canvas = document.createElement('canvas')
      canvas.width = image.width
      canvas.height = image.height
      canvas.getContext('2d')?.drawImage(image, 0, 0)
      return canvas.toDataURL('image/webp', 0.82)
    },
    `data:image/png;base64,${png.toString('base64')}`,
  )
  await page.close()
  return Buffer.from(data.slice(data.indexOf(',') + 1), 'base64')
}

async function take(browser: Browser, url: string, { name, path, act, ...picture }: Picture): Promise<void> {
  for (const { look, colorScheme, width, height } of LOOKS) {
    const context = await browser.newContext({
      viewport: { width, height: picture.height ?? height },
      colorScheme,
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    await page.goto(`${url}${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('load')
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    await act?.(page)
    // The last charts are drawn a moment after their data arrived.
    await page.waitForTimeout(500)
    const image = await webp(browser, await page.screenshot())
    writeFileSync(join(values.out, `${name}-${look}.webp`), image)
    console.log(`${name}-${look}.webp  ${(image.length / 1_024).toFixed(0)} KiB`)
    await context.close()
  }
}

mkdirSync(values.out, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'jobmill-demo-'))
const demo = await seeded(join(folder, 'jobs.db'))
const browser = await launch()
try {
  for (const picture of picturesOf(demo)) await take(browser, demo.url, picture)
} finally {
  await browser.close()
  await demo.close()
  rmSync(folder, { recursive: true, force: true })
}
