/**
 * The bound or rule of the protection against a hostile web that a request ran into, counted as
 * `downloader/protection/<reason>`. docs/hostile-web.md explains each, with its setting.
 */
export type ProtectionReason =
  // Nothing is sent, as the address is not public.
  | 'metadata_address'
  | 'loopback_address'
  | 'private_address'
  | 'link_local_address'
  | 'shared_address'
  | 'multicast_address'
  | 'unspecified_address'
  | 'reserved_address'
  // Nothing is read: a file of this machine that FILE_URLS_ALLOWED does not name.
  | 'file_url'
  // The download ends.
  | 'deadline'
  | 'slow_headers'
  | 'slow_body'
  | 'body_size'
  | 'header_size'
  | 'header_count'
  | 'interim_answers'
  | 'data_loss'
  | 'bad_http'
  | 'bad_tls'
  | 'bad_certificate'
  // The answer is dropped.
  | 'decompressed_size'
  | 'decompression_ratio'
  | 'encoding_chain'
  | 'bad_encoding'
  | 'location_length'
  // The answer reaches the callback, but only a part of it is read.
  | 'binary_page'
  | 'page_nodes'
  | 'page_links'

/** Returns the counter of a reason. */
export function protectionStat(reason: ProtectionReason): string {
  return `downloader/protection/${reason}`
}
