import { attribution } from './cases/attribution.ts'
import { chains } from './cases/chains.ts'
import { checking } from './cases/checking.ts'
import { comments } from './cases/comments.ts'
import { configs } from './cases/configs.ts'
import { files } from './cases/files.ts'
import { formatting } from './cases/formatting.ts'
import { kinds } from './cases/kinds.ts'
import { kptfiles } from './cases/kptfiles.ts'
import { locations } from './cases/places.ts'
import { refusals } from './cases/refusals.ts'
import { scalars } from './cases/scalars.ts'
import { selecting } from './cases/selecting.ts'
import { singleFunctions } from './cases/single-functions.ts'
import { subpackages } from './cases/subpackages.ts'
import type { RenderCase } from './render-case.ts'

export const ALL_CASES: readonly RenderCase[] = [
  ...formatting,
  ...comments,
  ...scalars,
  ...files,
  ...singleFunctions,
  ...chains,
  ...configs,
  ...subpackages,
  ...selecting,
  ...locations,
  ...checking,
  ...kptfiles,
  ...kinds,
  ...attribution,
  ...refusals,
]

/** Functions that the case's pipelines name by `exec`, each once. */
export function functionsOf({ files: tree }: RenderCase): readonly string[] {
  const texts = Object.entries(tree).flatMap(([path, text]) =>
    path.split('/').at(-1) === 'Kptfile' ? [text] : [],
  )
  return [
    ...new Set(
      texts.flatMap((text) =>
        [...text.matchAll(/"?\bexec"?:\s*([a-z][a-z-]*)/g)].map(([, name]) => name ?? ''),
      ),
    ),
  ]
}
