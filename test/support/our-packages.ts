// The entries of our packages, by the names that others import them by, as paths below packages/. Tests and what they start get the sources, so that no build has to
// come first.
export const OUR_PACKAGES: Readonly<Record<string, string>> = {
  jobmill: 'jobmill/src/index.ts',
  'jobmill/sqlite': 'jobmill/src/sqlite.ts',
  'jobmill/postgres': 'jobmill/src/postgres.ts',
  'jobmill/http': 'jobmill/src/http.ts',
  'jobmill/cli': 'jobmill/src/cli.ts',
  'jobmill/opentelemetry': 'jobmill/src/opentelemetry.ts',
  'jobmill/testing': 'jobmill/src/testing/index.ts',
  'jobmill-tables': 'tables/src/index.ts',
  'jobmill-telegram': 'telegram/src/index.ts',
  'jobmill-telegram/fake': 'telegram/src/fake.ts',
  'jobmill-uploads': 'uploads/src/index.ts',
  'jobmill-uploads/client': 'uploads/src/client.ts',
}

/** For Vite and vitest: whole names, so that one is not taken for the beginning of another. */
export function aliases(packages: string): { find: RegExp; replacement: string }[] {
  return Object.entries(OUR_PACKAGES).map(([name, path]) => ({
    find: new RegExp(`^${name}$`),
    replacement: `${packages}/${path}`,
  }))
}
