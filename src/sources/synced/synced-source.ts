import { canonicalJson, partOf } from '@backporch/kyaml/json'
import { BUILT, filesOf } from '../build/build-unit.ts'
import type { SyncerBuild } from '../build/built-source.ts'
import type { SyncedChoice } from '../build/render-choice.ts'
import type { Source } from '../build/source.ts'
import type { SourceDiscovery } from '../build/unit-source.ts'
import { BUILT_EDITOR } from '../place/built-editor.ts'
import { readSyncedSource } from './read-synced.ts'

export function syncedSource(discover: SourceDiscovery): Source<SyncedChoice> {
  return {
    ...BUILT,
    discover,
    describe: ({ tool, build }) => ({
      title: build.title,
      how: `with ${build.title}`,
      key: [tool, build.title, keyOf(build)],
      synced: build,
      kubectl: 'none',
      reads: 'named files',
    }),
    policy: 'none',
    filesRead: async (commit, { packagePath, files, choice }, signal) =>
      filesOf(await readSyncedSource(commit, { packagePath, files }, choice.build, signal)),
    edit: BUILT_EDITOR,
  }
}

function keyOf({
  object,
  builder,
  variables,
  release,
  capabilities,
  artifact,
}: SyncerBuild): string {
  const spec = partOf(object, 'spec') ?? null
  const inputs = JSON.stringify([
    release,
    capabilities,
    artifact?.ignore ?? '',
    artifact?.sparse ?? [],
    artifact?.included ?? [],
  ])
  return canonicalJson([spec, [...builder.fields], [...variables].map((pair) => [...pair]), inputs])
}
