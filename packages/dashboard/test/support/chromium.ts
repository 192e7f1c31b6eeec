/**
 * The browser of the tests: the installed Chromium of Debian. The headless shell opens a page in half the
 * time.
 */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const INSTALLED = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const
const PATH = process.env['CHROMIUM'] ?? INSTALLED.find((path) => existsSync(path)) ?? INSTALLED[0]

export const hasChromium = existsSync(PATH)

if (!hasChromium)
  console.warn(
    `
*** Chromium not found at ${PATH}: the dashboard tests are SKIPPED. ` +
      'Install it (apt-get install chromium-headless-shell), or set CHROMIUM=PATH. ***\n',
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
      // Processes are the largest cost here.
      '--in-process-gpu',
      '--process-per-site',
    ],
  })
}
