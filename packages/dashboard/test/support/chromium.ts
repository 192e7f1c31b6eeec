/** The browser that tests look through: Debian's Chromium, as it is installed. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PATH = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

export const hasChromium = existsSync(PATH)

if (!hasChromium)
  console.warn(
    `\n*** There is no Chromium at ${PATH}: the tests of the page are SKIPPED. ` +
      'Install it (apt-get install chromium), or name it with CHROMIUM=. ***\n',
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
    ],
  })
}
