/** `npm run options`: writes docs/reference/options.md from the code. */
import { writeFileSync } from 'node:fs'
import { optionsPage, readFacts } from './page.ts'

writeFileSync(new URL('../../../docs/reference/options.md', import.meta.url), optionsPage(await readFacts()))
