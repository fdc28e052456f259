/** Finds units by the name of their syncer resource, as `flux get` and `argocd app` accept it. */
import type { FoundPackage } from '@backporch/kpt/package'
import { describeChoice } from '../../sources/registry.ts'
import type { RepositoryView } from './repository-view.ts'

type NamingView = Pick<RepositoryView, 'packages' | 'policies' | 'recorded'>

/** Lower case: of the definitions, and the usual ones for an Application. */
const KINDS = new Map([
  ['ks', 'Kustomization'],
  ['kustomization', 'Kustomization'],
  ['hr', 'HelmRelease'],
  ['helmrelease', 'HelmRelease'],
  ['app', 'Application'],
  ['application', 'Application'],
  ['rootsync', 'RootSync'],
  ['reposync', 'RepoSync'],
])

/** As `hr/shop/web`, `ks/apps`, `shop/web` or `web`; empty if the name is no resource. */
export function listPathsByResource(view: NamingView, name: string): readonly string[] {
  const [first = '', ...rest] = name.split('/')
  const kind = KINDS.get(first.toLowerCase())
  const wanted =
    kind === undefined || rest.length === 0
      ? { kind: undefined, id: name }
      : { kind, id: rest.join('/') }
  if (wanted.id === '') return []
  const paths = listTitles(view).flatMap(([path, title]) => {
    const [, own, id = ''] = /(?:^| )(\w+) (\S+)(?: \(.*\))?$/.exec(title) ?? []
    const isKind = wanted.kind === undefined || own === wanted.kind
    return isKind && (id === wanted.id || id.endsWith(`/${wanted.id}`)) ? [path] : []
  })
  return [...new Set(paths)]
}

function listTitles({
  packages,
  policies,
  recorded,
}: NamingView): readonly (readonly [path: string, title: string])[] {
  const known = new Set(packages.map(({ path }: FoundPackage) => path))
  const synced = [...(policies.synced?.values() ?? [])].flatMap((renders) =>
    [...renders].map(([path, choice]) => [path, describeChoice(choice).title] as const),
  )
  const before = recorded.flatMap(({ path, appliedBy }) =>
    appliedBy === undefined ? [] : [[path, appliedBy] as const],
  )
  return [...synced, ...before].filter(([path]) => known.has(path))
}
