/** The sources whose resources name units, in the order in which they are read. */
import { ARGO_CD_NAMESPACES } from '../syncers/argo-cd.ts'
import { argoSources } from './argo-cd/argo-sources.ts'
import type { SourceDiscovery } from './build/unit-source.ts'
import { CONFIG_SYNC_SOURCES } from './config-sync/config-sync-sources.ts'
import { FLUX_SOURCES } from './flux/flux-sources.ts'

export const DISCOVERIES: readonly SourceDiscovery[] = [FLUX_SOURCES, argoSources(ARGO_CD_NAMESPACES), CONFIG_SYNC_SOURCES]
