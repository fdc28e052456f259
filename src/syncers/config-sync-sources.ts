/** The folders that RootSyncs and RepoSyncs of Config Sync apply from a repository (docs/facts/config-sync-sources.md). */
import { metadataText } from '../krm/resource.ts'
import { parseApiVersion } from '../krm/resource-id.ts'
import { KUSTOMIZATION_NAMES } from '../render/kustomize/kustomization-names.ts'
import { joined } from '../render/kustomize/kustomization-walk.ts'
import { type JsonObject, partOf, textOf } from '../text/json.ts'
import { configSyncBuilder } from './config-sync-build.ts'
import { folderOf } from './own-resource.ts'
import { titleOfOwn } from './sync-path.ts'
import type { RefusedSource, SourceDiscovery, SourcedRepository, UnitSource } from './unit-source.ts'

const GROUP = 'configsync.gke.io'
const KINDS = ['RootSync', 'RepoSync']

export const CONFIG_SYNC_SOURCES: SourceDiscovery = {
  kinds: KINDS.map((kind) => ({ group: GROUP, version: 'v1beta1', kind })),
  read: (of, repository) =>
    KINDS.flatMap((kind) => of(kind)).flatMap((own) =>
      parseApiVersion(textOf(own, 'apiVersion')).group === GROUP ? sourceOf(own, repository) : [],
    ),
}

function sourceOf(own: JsonObject, repository: SourcedRepository): readonly (UnitSource | RefusedSource)[] {
  const kind = textOf(own, 'kind')
  const title = `Config Sync ${kind} ${titleOfOwn(own)}`
  if ((textOf(own, 'spec', 'sourceType') || 'git') !== 'git' || !repository.isHere(textOf(own, 'spec', 'git', 'repo'))) return []
  const revision = textOf(own, 'spec', 'git', 'revision')
  const followed = revision === '' || revision === 'HEAD' ? textOf(own, 'spec', 'git', 'branch') || 'master' : revision
  const isFixed = followed === revision && !repository.isBranch(revision)
  if (!isFixed && followed !== repository.baseBranch) return []
  const refused = (why: string): readonly RefusedSource[] => [{ title, why }]
  const folder = folderOf(partOf(own, 'spec', 'git', 'dir') ?? '')
  if (folder === undefined) return refused('its dir leaves the repository')
  const format = textOf(own, 'spec', 'sourceFormat') || (kind === 'RepoSync' ? 'unstructured' : 'hierarchy')
  if (format !== 'unstructured')
    return refused('the hierarchical format, in which folders inherit objects, is not compared (spec.sourceFormat)')
  const builder = configSyncBuilder(KUSTOMIZATION_NAMES.some((name) => repository.has(joined(folder, name))))
  return [
    {
      title,
      id: { group: GROUP, kind, namespace: metadataText(own, 'namespace'), name: metadataText(own, 'name') },
      folder,
      variablesFrom: [],
      render: ({ variables }) => ({ tool: 'syncer', build: { title, folder, object: own, variables, builder } }),
      pinned: isFixed ? `${title} applies the revision ${revision}: a merge is applied once spec.git.revision of it moves` : undefined,
    },
  ]
}
