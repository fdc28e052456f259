/** See docs/facts/config-sync-sources.md. */
import { shortBranch } from '@backporch/git-store/ref-name'
import { KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import { type JsonObject, partOf, textOf } from '@backporch/kyaml/json'
import { annotationsOf, metadataText } from '@backporch/kyaml/resource'
import { folderOf } from '../../syncers/own-resource.ts'
import { titleOfOwn } from '../../syncers/sync-path.ts'
import {
  declaredNamed,
  type RefusedSource,
  type SourcedRepository,
  type UnitSource,
} from '../build/unit-source.ts'
import { joined } from '../kustomize/files/kustomization-walk.ts'
import { syncedSource } from '../synced/synced-source.ts'
import { configSyncFolder } from './config-sync-folder.ts'

const GROUP = 'configsync.gke.io'
const KINDS = ['RootSync', 'RepoSync']

/** Has `spec.clusterName`, if Google Cloud installed Config Sync. */
const INSTALLATION = { group: 'configmanagement.gke.io', kind: 'ConfigManagement' }

export const CONFIG_SYNC = syncedSource({
  name: 'Config Sync',
  kinds: [
    ...KINDS.map((kind) => ({ group: GROUP, version: 'v1beta1', kind })),
    { ...INSTALLATION, version: 'v1', use: 'optional' },
  ],
  read: (of, repository) => {
    const syncs = KINDS.flatMap((kind) => of(GROUP, kind))
    const clusterName = clusterNameOf(of(INSTALLATION.group, INSTALLATION.kind), syncs)
    return syncs.flatMap((own) => sourceOf(own, repository, clusterName))
  },
})

/** Config Sync writes the name on what it applies. Undefined if files declare several clusters. */
function clusterNameOf(
  installations: readonly JsonObject[],
  syncs: readonly JsonObject[],
): string | undefined {
  const names = [
    ...installations.map((own) => textOf(own, 'spec', 'clusterName')),
    ...syncs.map((own) => annotationsOf(own).get(`${GROUP}/cluster-name`) ?? ''),
  ]
  const [name, ...others] = new Set(names.filter((each) => each !== ''))
  return others.length === 0 ? name : undefined
}

function sourceOf(
  own: JsonObject,
  repository: SourcedRepository,
  clusterName: string | undefined,
): readonly (UnitSource | RefusedSource)[] {
  const kind = textOf(own, 'kind')
  const title = `Config Sync ${kind} ${titleOfOwn(own)}`
  const refused = (why: string): readonly RefusedSource[] => [{ title, why }]
  const sourceType = textOf(own, 'spec', 'sourceType') || 'git'
  if (sourceType !== 'git') {
    const isOurs = declaredNamed(own, repository.declared, () => true) !== undefined
    return isOurs
      ? refused(
          `its source is ${sourceType === 'helm' ? 'a chart of a Helm repository' : 'an OCI image'} (spec.sourceType: ${sourceType}), which is not in this repository`,
        )
      : []
  }
  if (!repository.isHere(textOf(own, 'spec', 'git', 'repo'))) return []
  const revision = textOf(own, 'spec', 'git', 'revision')
  const isDefault = revision === '' || revision === 'HEAD'
  const followed = shortBranch(
    isDefault ? textOf(own, 'spec', 'git', 'branch') || 'master' : revision,
  )
  const isFixed = !isDefault && !repository.isBranch(followed)
  if (!isFixed && followed !== repository.baseBranch) return []
  const folder = folderOf(partOf(own, 'spec', 'git', 'dir') ?? '')
  if (folder === undefined) return refused('its dir leaves the repository')
  const format =
    textOf(own, 'spec', 'sourceFormat') || (kind === 'RepoSync' ? 'unstructured' : 'hierarchy')
  if (format !== 'unstructured' && format !== 'hierarchy')
    return refused(`its format is not known (spec.sourceFormat: ${format})`)
  const isKustomized = KUSTOMIZATION_NAMES.some((name) => repository.has(joined(folder, name)))
  if (isKustomized && format === 'hierarchy')
    return refused(
      'a kustomization is not built in the hierarchical format (set spec.sourceFormat: unstructured)',
    )
  const builder = configSyncFolder({ format, isKustomized, clusterName })
  return [
    {
      tool: 'config-sync',
      title,
      id: {
        group: GROUP,
        kind,
        namespace: metadataText(own, 'namespace'),
        name: metadataText(own, 'name'),
      },
      folder,
      variablesFrom: [],
      build: () => ({ title, folder, object: own, variables: new Map(), builder }),
      pinned: isFixed
        ? `it applies the revision ${revision}: a merge is applied once spec.git.revision of it moves`
        : undefined,
    },
  ]
}
