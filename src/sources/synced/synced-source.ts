import { formatCanonicalJson, getPartAt } from '@backporch/kyaml/json'
import { BUILT, convertToFilesRead } from '../build/build-unit.ts'
import type { SyncerBuild } from '../build/built-source.ts'
import type { SyncedChoice } from '../build/render-choice.ts'
import type { Source } from '../build/source.ts'
import type { SourceDiscovery } from '../build/unit-source.ts'
import { BUILT_EDITOR } from '../place/built-editor.ts'
import { readSyncedSource } from './read-synced.ts'

export function createSyncedSource(discover: SourceDiscovery): Source<SyncedChoice> {
  return {
    ...BUILT,
    discover,
    describe: ({ tool, build }) => ({
      title: build.title,
      how: `with ${build.title}`,
      key: [tool, build.title, computeKey(build)],
      synced: build,
      kubectl: 'none',
      reads: 'named files',
    }),
    policy: 'none',
    filesRead: async (commit, { packagePath, files, choice }, signal) =>
      convertToFilesRead(
        await readSyncedSource(commit, { packagePath, files }, choice.build, signal),
      ),
    edit: BUILT_EDITOR,
  }
}

function computeKey({
  object,
  builder,
  variables,
  release,
  capabilities,
  artifact,
}: SyncerBuild): string {
  const spec = getPartAt(object, 'spec') ?? null
  const inputs = JSON.stringify([
    release,
    capabilities,
    artifact?.ignore ?? '',
    artifact?.sparse ?? [],
    artifact?.included ?? [],
  ])
  return formatCanonicalJson([
    spec,
    [...builder.fields],
    [...variables].map((pair) => [...pair]),
    inputs,
  ])
}
