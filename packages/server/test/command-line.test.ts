// The command line loads this package by name, so the compiler cannot compare the two sides there.
import { expectTypeOf, test } from 'vitest'
import type { ServerPackage } from '../../jobmill/src/cli/config/load-server.ts'
import { serve } from '../src/index.ts'

test('the package has what the command line expects of it', () => {
  expectTypeOf({ serve }).toExtend<ServerPackage>()
})
