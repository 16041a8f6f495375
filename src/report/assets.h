/*
 * What is embedded when the program is built: our page, and the library of
 * charts with its notice (both empty where it was not found).  Not terminated.
 */
#ifndef TRI_SRC_REPORT_ASSETS_H
#define TRI_SRC_REPORT_ASSETS_H

extern const char tri_asset_page[], tri_asset_page_end[];
extern const char tri_asset_style[], tri_asset_style_end[];
extern const char tri_asset_tables[], tri_asset_tables_end[];
extern const char tri_asset_charts[], tri_asset_charts_end[];
extern const char tri_asset_draw[], tri_asset_draw_end[];
extern const char tri_asset_library[], tri_asset_library_end[];
extern const char tri_asset_notice[], tri_asset_notice_end[];

#endif
