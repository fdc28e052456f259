/**
 * Of `@kubernetes/client-node` the bundle holds what an entry uses. Its files do not say that they have no side effects, so that esbuild would keep
 * everything that they import: all models and an HTTP client of 756 kB for the 28 kB of OpenID Connect (docs/adr/0010-dependencies.md).
 */
import type { Plugin } from 'esbuild'

const LIBRARY = /[\\/]node_modules[\\/]@kubernetes[\\/]client-node[\\/]dist[\\/]/
/** The library imports it too. A chunk loads each module that its files name and another chunk uses, so the library's is a module of its own. */
const OURS_TOO = 'undici'
/** Marks a question of this plugin, which it does not answer itself. */
const ASKED = 'needed-parts'

export function neededParts(): Plugin {
  return {
    name: 'needed-parts',
    setup: ({ onResolve, resolve }) =>
      onResolve({ filter: /./ }, async ({ path, pluginData, importer, kind, resolveDir }) => {
        if (pluginData === ASKED || !LIBRARY.test(importer)) return undefined
        const found = await resolve(path, { importer, kind, resolveDir, pluginData: ASKED })
        if (found.external || found.errors.length > 0) return found
        const suffix = path === OURS_TOO ? '?of-client-node' : found.suffix
        return { ...found, suffix, sideEffects: false }
      }),
  }
}
