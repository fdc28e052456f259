/** Libraries are loaded when a forge is opened. An unknown server is probed in this order. */
import type { ForgeAdapter } from '../adapter/forge-adapter.ts'
import { GITEA } from '../gitea/gitea.ts'
import { GITHUB } from '../github/github.ts'
import { LOCAL } from '../local/local.ts'
import type { ForgeKind } from '../ports/forge-setup.ts'

export const FORGES: { readonly [kind in ForgeKind]: ForgeAdapter & { readonly kind: kind } } = {
  gitea: GITEA,
  github: GITHUB,
  local: LOCAL,
}

export const ALL_FORGES: readonly ForgeAdapter[] = Object.values(FORGES)
