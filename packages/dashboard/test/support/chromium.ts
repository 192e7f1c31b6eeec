/** The browser that tests look through: Debian's Chromium, as it is installed. The one without windows opens a page in half the time. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const INSTALLED = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const
const PATH = process.env['CHROMIUM'] ?? INSTALLED.find((path) => existsSync(path)) ?? INSTALLED[0]

export const hasChromium = existsSync(PATH)

if (!hasChromium)
  console.warn(
    `\n*** There is no Chromium at ${PATH}: the tests of the page are SKIPPED. ` +
      'Install it (apt-get install chromium-headless-shell), or name it with CHROMIUM=. ***\n',
  )

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: PATH,
    timeout: 120_000,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Processes cost more than anything else here.
      '--in-process-gpu',
      '--process-per-site',
    ],
  })
}
