export { GiteaClient } from './gitea/gitea-client.ts'
export { giteaForge } from './gitea/gitea-forge.ts'
export { GITEA_SETUP } from './gitea/gitea-setup.ts'
