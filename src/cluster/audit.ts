export { AuditIntake } from './audit/audit-intake.ts'
export { openAuditLog } from './audit/audit-log.ts'
export { startAuditServer } from './audit/audit-server.ts'
export type { AuditSource } from './ports/audit-source.ts'
